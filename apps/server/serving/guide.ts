/** The documentation site, if the checkout or the image has it. */
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Docs } from "@accountlink/http/docs";
import { guideWith } from "@accountlink/http/guide";

/** Where `npm run site` puts it. */
const folder = resolve(import.meta.dirname, "../../../dist/guide");

/** Looks for the files when the server starts. */
export const guide: Docs = (...place) =>
  guideWith({
    paths: globSync("**/*.{html,js,css}", { cwd: folder }),
    read: (path) => readFile(join(folder, path), "utf8"),
  })(...place);
