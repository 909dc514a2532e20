import type { PublicError } from "@accountlink/core/errors";
import { assert, it } from "@accountlink/test-servers/effect";
import { errorCodes, errorTable, statusesOf, statusOf } from "./errors.ts";

it.each(errorCodes)("the table of errors has an example of %s for each status", (code) => {
  const { examples } = errorTable[code];
  assert.sameMembers([...new Set(examples.map(statusOf))], [...statusesOf(code)]);
});

const kept = Object.values(errorTable).filter((row) => row.kept !== null);

it.each(kept.flatMap(({ examples, kept: Kept }) => examples.map((error) => ({ error, Kept }))))(
  "the table of errors makes a kept $error.code anew from its details, and keeps none that asks to try again",
  ({ error, Kept }) => {
    assert.deepStrictEqual<PublicError>(
      new (Kept as new (details: unknown) => PublicError)(error.details ?? {}),
      error,
    );
    assert.notInclude([429, 500, 503], statusOf(error));
  },
);
