import { needsOf } from "./message_faults.ts";

/**
 * Returns the source of the types of the values of messages.
 *
 * @param test the file that writes them
 */
export const messageValues = (english: Readonly<Record<string, string>>, test: string): string => {
  const types = { text: "Text", number: "number", tag: "Tag" };
  const typesByName = new Map<string, Set<string>>();
  const names = Object.entries(english).flatMap(([key, message]) => {
    const values = Object.entries(needsOf("en", message).values);
    for (const [name, kind] of values) {
      typesByName.set(name, (typesByName.get(name) ?? new Set()).add(types[kind]));
    }
    return values.length === 0
      ? []
      : [`  readonly "${key}": ${values.map(([name]) => `"${name}"`).join(" | ")};`];
  });
  const values = [...typesByName]
    .map(([name, of]) => `  readonly ${name}: ${[...of].join(" | ")};`)
    .toSorted();
  const long =
    names.length + values.length > 280
      ? "\n// oxlint-disable max-lines -- a line for each message with values"
      : "";
  return `// biome-ignore-all format: \`vitest -u\` writes this from \`en.json\`, see \`${test}\`.${long}
/** The names of the values of each message that has some. */
export interface ValueNames {
${names.join("\n")}
}

/** The type of each value. */
export interface MessageValues<Text, Tag> {
${values.join("\n")}
}
`;
};
