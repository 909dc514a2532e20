/** Storage on any driver of unstorage, for one process. */
import { StorageKv } from "@accountlink/storage-kv";
import { createStorage, type Driver } from "unstorage";
import memoryDriver from "unstorage/drivers/memory";

/** unstorage parses what looks like JSON, so the text is in an object. */
interface Item {
  readonly text: string;
}

const singleKeys = (driver: Driver): StorageKv.SingleKeyStore => {
  const storage = createStorage<Item>({ driver });
  return {
    get: async (key) => (await storage.getItem(key))?.text ?? null,
    set: (key, text) => storage.setItem(key, { text }),
    remove: (key) => storage.removeItem(key),
    // It spells "link/1" as "link:1".
    keys: async () => (await storage.getKeys()).map((key) => key.replaceAll(":", "/")),
    close: () => storage.dispose(),
  };
};

export const layerOn = (driver: Driver) => StorageKv.layer(() => StorageKv.singleProcess(singleKeys(driver)));

/** For `accountlink-conformance`. */
export const layer = StorageKv.layer(() => StorageKv.singleProcess(singleKeys(memoryDriver())));
