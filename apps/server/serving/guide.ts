/** Reads the files of the guide, which some checkouts and images do not contain. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { guideWith } from "@accountlink/pages/guide";

/** The output folder of `npm run guide`. */
const folder = resolve(import.meta.dirname, "../../../dist/guide");

export const guide = guideWith((path) =>
  readFile(join(folder, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  }),
);
