/** The public surface of packages: what each entry point exports, read from the compiled declarations. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { entryPointsOf } from "../entry_points.ts";
import type { Package } from "../publishable.ts";

export interface PublicName {
  /** Includes the namespace, as in `AccountLink.layerMemory`. */
  readonly name: string;
  /**
   * The declarations with their comments, then the declarations of the same module that they mention and that cannot
   * be imported. Empty for a name of another package.
   */
  readonly declarations: ReadonlyArray<string>;
  /** The doc comment, without stars. */
  readonly comment: string;
  /** The module of another package that the name comes from. */
  readonly origin: string | null;
  /** Identifies the declaration, whatever its name and entry point in the package. */
  readonly id: string;
}

export interface EntrySurface {
  readonly specifier: string;
  readonly comment: string;
  readonly names: ReadonlyArray<PublicName>;
}

/**
 * The public surface of a package by entry point, in the order of its `exports`. `@internal` in a comment removes the
 * name; at the top of an entry point, it removes all names.
 *
 * @param folder the folder of its declarations
 */
export const publicSurfaceOf = (published: Package, folder: string): ReadonlyArray<EntrySurface> =>
  entryPointsOf(published).map(({ specifier, source }) => {
    const path = join(folder, source.replace(/\.ts$/, ".d.ts"));
    const comment = headOf(path);
    const names = isInternal(comment) ? [] : namesOf(path).filter((name) => !isInternal(name.comment));
    return { specifier, comment, names };
  });

const isInternal = (comment: string): boolean => /^@internal$/m.test(comment);

const headOf = (path: string): string => {
  const [first] = parseSync(path, readFileSync(path, "utf8")).comments;
  return first === undefined ? "" : textOf(first.value);
};

const textOf = (comment: string): string => comment.replace(/^[ \t]*\*+ ?/gm, "").trim();

interface Declaration {
  readonly text: string;
  readonly comment: string;
}

const readModule = (path: string) => {
  const source = readFileSync(path, "utf8");
  const { program, comments, module } = parseSync(path, source);
  const declarations = new Map<string, ReadonlyArray<Declaration>>();
  for (const statement of program.body) {
    const declaration = "declaration" in statement ? statement.declaration : statement;
    if (declaration === null) continue;
    const before = comments.findLast(
      ({ end }) => end <= statement.start && /^\s*$/.test(source.slice(end, statement.start)),
    );
    const added = {
      text: source.slice(statement.start, statement.end),
      comment: before === undefined ? "" : textOf(before.value),
    };
    for (const name of declaredBy(declaration))
      declarations.set(name, [...(declarations.get(name) ?? []), added]);
  }
  return { declarations, exports: module.staticExports.flatMap(({ entries }) => entries), path };
};

const declaredBy = (declaration: object): ReadonlyArray<string> => {
  const { id, declarations } = declaration as {
    readonly id?: { readonly name?: string } | null;
    readonly declarations?: ReadonlyArray<object>;
  };
  return declarations?.flatMap(declaredBy) ?? (id?.name === undefined ? [] : [id.name]);
};

const namesOf = (path: string): ReadonlyArray<PublicName> => {
  const exporting = readModule(path);
  const names = exporting.exports.flatMap((entry) => {
    const name = entry.exportName.name ?? "";
    const from = entry.moduleRequest?.value;
    if (from === undefined) return [declared(exporting, name, entry.localName.name ?? name)];
    if (!from.startsWith("."))
      return [{ name, declarations: [], comment: "", origin: from, id: `${from}#${entry.importName.name}` }];
    const others = namesOf(join(dirname(path), from.replace(/\.ts$/, ".d.ts")));
    if (entry.exportName.name === null) return others;
    if (entry.importName.name === null)
      return others.map((other) => ({ ...other, name: `${name}.${other.name}` }));
    const imported = entry.importName.name;
    // A re-exported namespace is a name that contains others.
    return others
      .filter((other) => other.name === imported || other.name.startsWith(`${imported}.`))
      .map((other) => ({ ...other, name: name + other.name.slice(imported.length) }));
  });
  // Each overload is an entry.
  return [...new Map(names.map((name) => [name.name, name])).values()];
};

const declared = (from: ReturnType<typeof readModule>, name: string, localName: string): PublicName => {
  const own = from.declarations.get(localName);
  if (own === undefined) throw new Error(`Cannot find the declaration of "${localName}" in ${from.path}`);
  const exported = new Set(from.exports.map((entry) => entry.localName.name));
  const texts = new Map([[localName, own.map(({ text }) => text)]]);
  const visit = (text: string): void => {
    for (const word of text.match(/[A-Za-z_$][\w$]*/g) ?? []) {
      const hidden = from.declarations.get(word);
      if (hidden === undefined || exported.has(word) || texts.has(word)) continue;
      texts.set(
        word,
        hidden.map((declaration) => declaration.text),
      );
      for (const declaration of hidden) visit(declaration.text);
    }
  };
  for (const { text } of own) visit(text);
  const comment = own.map((declaration) => declaration.comment).find((text) => text !== "") ?? "";
  return {
    name,
    declarations: [...texts.values()].flat(),
    comment,
    origin: null,
    id: `${from.path}#${localName}`,
  };
};
