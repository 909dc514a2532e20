import * as FastCheck from "fast-check";

export type Fields<Record> = { readonly [Field in keyof Record]-?: FastCheck.Arbitrary<Record[Field]> };

/** Returns a function that makes an arbitrary of a record, and whose argument replaces arbitraries of fields. */
export const recordOf =
  <Record extends object>(fields: Fields<Record>) =>
  (parts: Partial<Fields<Record>> = {}): FastCheck.Arbitrary<Record> =>
    FastCheck.record<Record>({ ...fields, ...parts });

/** The value, or null with a probability of one in three. */
export const orNull = <Value>(value: FastCheck.Arbitrary<Value>): FastCheck.Arbitrary<Value | null> =>
  FastCheck.option(value, { freq: 3 });
