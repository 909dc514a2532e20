import * as FastCheck from "fast-check";

export type Fields<Record> = { readonly [Field in keyof Record]-?: FastCheck.Arbitrary<Record[Field]> };

/** Makes a function that returns an arbitrary of the record; its argument restricts single fields. */
export const recordOf =
  <Record extends object>(fields: Fields<Record>) =>
  (parts: Partial<Fields<Record>> = {}): FastCheck.Arbitrary<Record> =>
    FastCheck.record<Record>({ ...fields, ...parts });

/** The value, or null with a probability of one in four. */
export const orNull = <Value>(value: FastCheck.Arbitrary<Value>): FastCheck.Arbitrary<Value | null> =>
  FastCheck.option(value, { freq: 3 });
