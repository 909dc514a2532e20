import * as FastCheck from "fast-check";

export type Fields<Record> = { readonly [Field in keyof Record]-?: FastCheck.Arbitrary<Record[Field]> };

/** A function from the restricted fields to the arbitrary of the record. */
export const recordOf =
  <Record extends object>(fields: Fields<Record>) =>
  (parts: Partial<Fields<Record>> = {}): FastCheck.Arbitrary<Record> =>
    FastCheck.record<Record>({ ...fields, ...parts });

/** The value, or null in one of four. */
export const orNull = <Value>(value: FastCheck.Arbitrary<Value>): FastCheck.Arbitrary<Value | null> =>
  FastCheck.option(value, { freq: 3 });
