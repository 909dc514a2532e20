/** Makes answers that the platforms' documents allow, from a seed. */
import type { Operation, Schema } from "./documents.ts";

/**
 * Roblox's documents require no field. These are in every answer, since it tells nothing without them.
 */
const always: ReadonlySet<string> = new Set(
  "id data user userId role group roles name path groupMemberships groupRoles inventoryItems rank".split(" "),
);

const texts = ["", "ada", "Ada Lovelace", "名前 👩‍👩‍👧‍👦", "0", "x".repeat(300)];
const times = ["2020-03-19T05:54:55.36Z", "2015-04-26T06:26:56.936000+00:00", "1970-01-01T00:00:00Z"];

/** The largest IDs: Roblox's are integers that JSON carries exactly, Discord's are texts of 64 bits. */
const [largestInteger, largestSnowflake] = [Number.MAX_SAFE_INTEGER, "9223372036854775807"];

/** How likely an optional field is left out, a nullable one is null, and an ID is the largest. */
interface Chances {
  readonly absent: number;
  readonly null: number;
  readonly largest: number;
}

const extremes: ReadonlyArray<Chances> = [
  { absent: 1, null: 1, largest: 1 },
  { absent: 0, null: 1, largest: 0 },
  { absent: 0, null: 0, largest: 1 },
];

/** Makes the body of an operation's successful answer. The same seed makes the same body. */
export const makeAnswer = ({ answer, document }: Operation, seed: number): unknown => {
  let state = seed + 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = <A>(values: ReadonlyArray<A>): A => values[Math.floor(random() * values.length)] as A;
  const chances = extremes[seed] ?? { absent: random(), null: random(), largest: random() };

  /** Follows references. A schema of several parts has one part that is more than a description. */
  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.split("/").at(-1);
    const next = name === undefined ? schema.allOf?.[0] : document.components.schemas[name];
    return next === undefined ? schema : resolve(next);
  };

  const make = (referring: Schema, depth: number): unknown => {
    const schema = resolve(referring);
    if ("const" in schema) return schema.const;
    if (schema.enum !== undefined) return pick(schema.enum);
    const choices = schema.oneOf ?? schema.anyOf;
    const types = [schema.type ?? "object"].flat();
    const others = (choices ?? types.map((type) => ({ type }))).filter(({ type }) => type !== "null");
    const isNullable = others.length < (choices ?? types).length;
    if (others.length === 0 || (isNullable && random() < chances.null)) return null;
    const choice = pick(others);
    return choices === undefined ? makeTyped({ ...schema, ...choice }, depth) : make(choice, depth);
  };

  const makeTyped = (schema: Schema, depth: number): unknown => {
    if (schema.type === "object") return makeObject(schema, depth);
    if (schema.type === "string") return makeText(schema);
    if (schema.type === "boolean") return random() < 0.5;
    if (schema.type !== "array") return makeNumber(schema);
    const { items = {}, minItems = 0 } = schema;
    const length = depth > 4 ? minItems : Math.max(minItems, Math.floor(random() * 4));
    return Array.from({ length }, () => make(items, depth + 1));
  };

  const makeObject = ({ properties = {}, required = [] }: Schema, depth: number) => {
    const kept = Object.entries(properties).filter(
      ([name]) => required.includes(name) || always.has(name) || (depth < 5 && random() >= chances.absent),
    );
    const made = kept.map(([name, schema]) => [name, make(schema, depth + 1)] as const);
    return { ...Object.fromEntries(made), new_field_of_the_platform: { nested: [null] } };
  };

  const makeText = ({ format }: Schema) => {
    if (format === "date-time") return pick(times);
    if (format === "uri") return "https://example.com/";
    if (format !== "snowflake") return pick(texts);
    return random() < chances.largest ? largestSnowflake : String(Math.floor(random() * 2 ** 50));
  };

  const makeNumber = ({ format, minimum = 0, maximum }: Schema) => {
    const limit = maximum ?? (format === "int64" ? largestInteger : 2 ** 31 - 1);
    return random() < chances.largest ? limit : minimum + Math.floor(random() * (limit - minimum));
  };

  return answer === undefined ? "" : make(answer, 0);
};
