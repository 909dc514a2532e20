/** For `accountlink-conformance`: a new folder each time. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageKv } from "@accountlink/storage-kv";
import { openFiles } from "./store.ts";

export const layer = StorageKv.layer(async () => openFiles(await mkdtemp(join(tmpdir(), "unstorage-"))));
