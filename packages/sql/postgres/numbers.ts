/** Numbers in parameters and rows of Postgres. */
import { PgTypes } from "@effect/sql-pg";
import { Result } from "effect";

/** Sends numbers as text, so that Postgres takes their type from the statement, not from the size of the number. */
export const numbersAsText = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  params.map((value) => (typeof value === "number" || typeof value === "bigint" ? `${value}` : value));

/** Integers beyond `Number.MAX_SAFE_INTEGER` become inexact numbers, which the code that reads the row refuses. */
export const integersAsNumbers = PgTypes.makeRegistry();

const readInteger = (bytes: Uint8Array, offset = 0) =>
  Result.succeed(Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(offset)));

integersAsNumbers.register<number>(PgTypes.OID.int8, {
  decode: (bytes) => readInteger(bytes),
  read: readInteger,
  encode: () => Result.fail(new PgTypes.CodecError({ message: "Numbers are sent as text" })),
});
