/** Settings, one row each: schema, value before anybody chose one, and what requests and refusals say of it. @internal */
import { Effect, Record, Schema } from "effect";
import type { Expected } from "./expected.ts";

export const setting = <S extends Schema.Top, const E extends Expected>(
  schema: S,
  unset: S["Type"] & S["Encoded"],
  expected: E,
  description: string,
) => ({
  schema,
  /** The schema of the stored setting. Records of earlier releases may lack the setting. */
  stored: schema.pipe(Schema.withDecodingDefault<S>(Effect.succeed(unset))),
  unset,
  expected,
  description,
});

/** A setting that is null unless it was chosen. */
export const chosen = <S extends Schema.Top, const E extends Expected>(
  schema: S,
  expected: E,
  description: string,
) => setting(Schema.NullOr(schema), null, expected, description);

export const switched = (unset: boolean, description: string) =>
  setting(Schema.Boolean, unset, { is: "choice", text: "expected true or false" }, description);

type Row = Omit<ReturnType<typeof setting>, "schema"> & { readonly schema: Schema.Codec<unknown> };
export type SettingRows = Readonly<Record<string, Row>>;

/** Returns one column of the rows, by the names of the settings. */
const column =
  <Column extends "schema" | "stored" | "unset">(name: Column) =>
  <Rows extends SettingRows>(rows: Rows) =>
    Record.map(rows, (row) => row[name]) as { readonly [Name in keyof Rows]: Rows[Name][Column] };

export const schemasOf = column("schema");
export const storedSchemasOf = column("stored");
export const unsetOf = column("unset");
