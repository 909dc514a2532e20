/** The location of the storage, as commands print it. */
import { Context, Redacted } from "effect";
import type { Storage } from "./resolved_config.ts";

export class StorageLocation extends Context.Service<
  StorageLocation,
  {
    /** The location as messages name it: `data folder "data"` or `database "db.internal:5432/links"`. */
    readonly text: string;
    readonly json: { readonly folder: string } | { readonly database: string };
  }
>()("@accountlink/server/StorageLocation") {}

/** A storage that outlives the server. */
export type PersistentStorage = Exclude<Storage, { readonly kind: "memory" }>;

export const locationOf = (storage: PersistentStorage): StorageLocation["Service"] => {
  if (storage.kind === "embedded") {
    return { text: `data folder "${storage.folder}"`, json: { folder: storage.folder } };
  }
  const { host, pathname } = new URL(Redacted.value(storage.url));
  return { text: `database "${host}${pathname}"`, json: { database: `${host}${pathname}` } };
};
