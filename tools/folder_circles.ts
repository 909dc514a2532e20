/** Finds folders that import each other in a circle, and circles through a file beside them. */
import { posix } from "node:path";
import { importsOf } from "./imports.ts";

/** The entries of one folder: for each the entries that its files import, with the first of these imports. */
type Entries = Map<string, Map<string, string>>;

/**
 * A line for each circle, with the imports that make it and the fix. Tests are left out, since they may bring
 * together what the package keeps apart.
 *
 * @param sources the text of each file, by its path from the root
 */
export const folderCircles = (sources: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const folders = new Map<string, Entries>();
  for (const [file, source] of sources) {
    if (isTest.test(file)) continue;
    for (const { specifier } of importsOf(file, source)) {
      if (specifier.startsWith(".")) addImport(folders, file, posix.join(posix.dirname(file), specifier));
    }
  }
  return [...folders].flatMap(([folder, entries]) =>
    circlesOf(entries).map((circle) => lineOf(folder, circle)),
  );
};

const isTest = /(?:_test|_proof|\/test_\w+)\.tsx?$/;

const addImport = (folders: Map<string, Entries>, file: string, imported: string): void => {
  const [from, to] = [file.split("/"), imported.split("/")];
  const depth = from.findIndex((part, index) => part !== to[index]);
  const [one, other] = [from[depth], to[depth]];
  if (one === undefined || other === undefined) return;
  const folder = from.slice(0, depth).join("/");
  const entries: Entries = folders.get(folder) ?? new Map();
  const targets = entries.get(one) ?? new Map<string, string>();
  if (!targets.has(other)) targets.set(other, `"${file}" imports "${imported}"`);
  folders.set(folder, entries.set(one, targets));
};

interface Circle {
  readonly names: ReadonlyArray<string>;
  readonly imports: ReadonlyArray<string>;
}

/** The shortest circle through each entry; one that several entries share is there once. */
const circlesOf = (entries: Entries): ReadonlyArray<Circle> => {
  const circles = new Map<string, Circle>();
  for (const start of [...entries.keys()].toSorted()) {
    const circle = shortestCircle(entries, start);
    const key = circle?.names.toSorted().join() ?? "";
    if (circle !== null && !circles.has(key)) circles.set(key, circle);
  }
  return [...circles.values()];
};

const shortestCircle = (entries: Entries, start: string): Circle | null => {
  const paths: Array<Circle> = [{ names: [start], imports: [] }];
  const seen = new Set<string>();
  // The list grows while it is read.
  for (const { names, imports } of paths) {
    for (const [next, line] of entries.get(names.at(-1) ?? "") ?? []) {
      if (next === start) return { names, imports: [...imports, line] };
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push({ names: [...names, next], imports: [...imports, line] });
    }
  }
  return null;
};

const lineOf = (folder: string, { names, imports }: Circle): string =>
  `${folder}: ${[...names, names[0]].join(" -> ")} is a circle: ${imports.join(", ")}. Move what they share into the folder of its concept, which imports none of them`;
