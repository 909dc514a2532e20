/**
 * Makes the pictures of the documents: `npm run pictures` writes `docs/pictures`. The demo's data and its clock are
 * fixed, so a second run changes no byte.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { takePictures } from "./scenes.ts";

const folder = fileURLToPath(import.meta.resolve("../../docs/pictures"));

const pictures = await takePictures();
for (const [name, { light, dark }] of Object.entries(pictures)) {
  writeFileSync(`${folder}/${name}-light.webp`, light);
  writeFileSync(`${folder}/${name}-dark.webp`, dark);
}
const pages = Object.fromEntries(Object.entries(pictures).map(([name, { page }]) => [name, page]));
writeFileSync(`${folder}/pages.json`, `${JSON.stringify(pages, null, 2)}\n`);
