import { InvalidParameter } from "@accountlink/core/errors";
import { kindOf, type Parameter, type RawValues, type Route } from "@accountlink/http-api";
import { Function, Hash, Option, Record, Schema, Struct } from "effect";
import type { Fields } from "./form_fields.ts";

/**
 * Returns the fields of a form as the body of a route has them. A field that the form lacks is left out, and so is one
 * that its reader did not change.
 *
 * @param inPath the values of the path, in which forms may leave out what a field names
 */
export const formValues = (
  { parameters }: Pick<Route, "parameters">,
  fields: Fields,
  inPath: RawValues,
): RawValues => {
  const raw: RawValues = Record.map(parameters, (parameter, name) => {
    const sent = fields.all(name);
    if (sent.length === 0) return parameter.isInPath ? inPath[name] : undefined;
    if (isUntouched(fields, name)) return undefined;
    if (kindOf(parameter) === "list") return sent.flatMap(entriesOf);
    const text = fields(name).trim();
    if (text === "") return parameter.takesNull ? null : undefined;
    // A text that is no number is refused as a wrong value.
    return kindOf(parameter) === "number" && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  });
  // Browsers send the chosen guild even if the scope is global.
  return raw["scope"] === "global" ? Struct.omit(raw, ["guildId"]) : raw;
};

/**
 * Marks what a form shows, for its hidden field `shown`. A form that was open while somebody saved others then changes
 * only what its own reader changed.
 */
export const marksOf = (shown: Readonly<Record<string, string | ReadonlyArray<string>>>): string =>
  new URLSearchParams(Record.map(shown, (value) => markOf([value].flat()))).toString();

const markOf = (values: ReadonlyArray<string>): string =>
  String(Hash.string(values.join("\n").replaceAll("\r\n", "\n").trim()));

/** A form that was refused and is shown again, or a new one. */
export interface SentForm {
  /** What the form showed when it was opened, see `marksOf`. */
  readonly shown?: string;
}

/** Parses the marks once for all fields, because they may be as long as the form. */
const marksIn = Function.memoize((fields: Fields) => new URLSearchParams(fields("shown")));

/** Whether a field has the value that the form showed. */
export const isUntouched = (fields: Fields, name: string): boolean =>
  marksIn(fields).get(name) === markOf(fields.all(name));

/** Returns the error with the wrong entries of lists, which forms show to those who typed them. */
export const explained = <E>(
  error: E | InvalidParameter,
  { parameters }: Pick<Route, "parameters">,
  raw: RawValues,
) =>
  error instanceof InvalidParameter
    ? new InvalidParameter({
        parameters: error.parameters.map((problem) => {
          const { name } = problem;
          const reason = parameters[name]?.explain?.(raw[name]);
          return reason === undefined ? problem : { name, reason };
        }),
      })
    : error;

/** Returns the field `cursor` as a route reads it; null for the first page, also if the cursor is invalid. */
export const placeIn = <A>(
  fields: Fields,
  { parameters: { cursor } }: { readonly parameters: { readonly cursor: Parameter<A | null> } },
): A | null => Option.getOrNull(Schema.decodeUnknownOption(cursor.schema)(fields("cursor")));

/** Splits the text of a field into entries, at line breaks and commas. */
export const entriesOf = (lines: string): ReadonlyArray<string> =>
  lines
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

export const given = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
