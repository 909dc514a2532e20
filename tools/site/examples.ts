/**
 * Finds the documentation examples that use each public name. An example counts for the names that it imports and, in
 * a doc comment, for names of the same package that it uses without an import; for a type, examples of names that use
 * the type count too. All examples run in `test/docs/code_examples_test.ts`.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { type Example, examplesIn } from "../doc_examples.ts";
import { root } from "../publishable.ts";
import type { EntrySurface, PublicName } from "./public_surface.ts";

export const readExamples = (): ReadonlyArray<Example> =>
  globSync(["*.md", "docs/**/*.md", "packages/**/*.{md,ts}"], {
    cwd: root,
    exclude: ["**/node_modules", "packages/*/dist", "**/*_test.ts"],
  })
    .toSorted()
    .flatMap((file) => examplesIn(file, readFileSync(join(root, file), "utf8")));

/** The names of all entry points. Resolves names that a package re-exports from another. */
export const makeNames = (surfaces: ReadonlyArray<EntrySurface>) => {
  const bySpecifier = new Map(
    surfaces.map(({ specifier, names }) => [specifier, new Map(names.map((name) => [name.name, name]))]),
  );
  const origin = (name: PublicName): PublicName => {
    const [specifier = "", imported = ""] = name.origin === null ? [] : name.id.split("#");
    const behind = bySpecifier.get(specifier)?.get(imported);
    return behind === undefined ? name : origin(behind);
  };
  return { bySpecifier, origin };
};

export type Names = ReturnType<typeof makeNames>;

/** The examples of each name, by the `id` of its declaration. */
export const examplesByName = (
  surfaces: ReadonlyArray<EntrySurface>,
  examples: ReadonlyArray<Example>,
  { bySpecifier, origin }: Names,
): ReadonlyMap<string, ReadonlyArray<Example>> => {
  const found = new Map<string, Set<Example>>();
  const add = (id: string, added: Iterable<Example>) =>
    found.set(id, new Set([...(found.get(id) ?? []), ...added]));
  for (const example of examples)
    for (const name of [...importedBy(example, bySpecifier), ...impliedBy(example, surfaces)])
      add(origin(name).id, [example]);
  spreadToTypes(surfaces, found, add);
  return new Map([...found].map(([id, set]) => [id, [...set]]));
};

/** Whether the code uses a name, such as `AccountLink.layerMemory`. Strings and comments do not count. */
const speaker = ({ code }: Example) => {
  const { program, comments } = parseSync("example.ts", code);
  const silent: Array<{ readonly start: number; readonly end: number }> = [...comments];
  new Visitor({
    Literal: (literal) => void silent.push(literal),
    TemplateElement: (text) => void silent.push(text),
  }).visit(program);
  const spoken = silent.reduce(
    (text, { start, end }) => text.slice(0, start) + " ".repeat(end - start) + text.slice(end),
    code,
  );
  const words = [...new Set(spoken.match(/[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*/g))];
  return (name: string) => words.some((word) => word === name || word.startsWith(`${name}.`));
};

const importedBy = (example: Example, bySpecifier: Names["bySpecifier"]): ReadonlyArray<PublicName> => {
  const says = speaker(example);
  return parseSync("example.ts", example.code).module.staticImports.flatMap(({ moduleRequest, entries }) => {
    const locals = new Map(entries.map(({ importName, localName }) => [importName.name, localName.value]));
    return [...(bySpecifier.get(moduleRequest.value)?.values() ?? [])].filter(({ name }) => {
      const [first = "", ...rest] = name.split(".");
      const local = locals.get(first);
      return local !== undefined && (rest.length === 0 || says([local, ...rest].join(".")));
    });
  });
};

/** In a doc comment, names of the same package need no import. */
const impliedBy = (example: Example, surfaces: ReadonlyArray<EntrySurface>): ReadonlyArray<PublicName> => {
  const [, folder] = /^packages\/([^/]+)\/.*\.ts$/.exec(example.file) ?? [];
  if (folder === undefined) return [];
  const own = folder === "accountlink" ? folder : `@accountlink/${folder}`;
  const says = speaker(example);
  return surfaces
    .filter(({ specifier }) => specifier === own || specifier.startsWith(`${own}/`))
    .flatMap(({ names }) => names.filter(({ name }) => says(name)));
};

/** Gives a type the examples of the declarations that mention it: few examples import the type of an argument. */
const spreadToTypes = (
  surfaces: ReadonlyArray<EntrySurface>,
  found: ReadonlyMap<string, ReadonlySet<Example>>,
  add: (id: string, added: Iterable<Example>) => void,
): void => {
  const all = surfaces.flatMap(({ names }) => names);
  const types = new Map(
    all
      .filter(({ declarations: [text = ""] }) => /^(export )?(declare )?(interface|type) /.test(text))
      .map((type) => [`${packageOf(type.id)} ${type.name.replace(/^.*\./, "")}`, type]),
  );
  const users = all.filter(({ id }) => found.has(id));
  const seen = new Set(users.map(({ id }) => id));
  // The list grows while it is read, so that types of types are included.
  for (const user of users)
    for (const word of new Set(user.declarations.join(" ").match(/[A-Za-z_$][\w$]*/g))) {
      const type = types.get(`${packageOf(user.id)} ${word}`);
      if (type === undefined || seen.has(type.id)) continue;
      seen.add(type.id);
      add(type.id, found.get(user.id) ?? []);
      users.push(type);
    }
};

const packageOf = (id: string): string => /\/compiled\/[^/]+\/([^/]+)/.exec(id)?.[1] ?? id;
