import { type BulkItem, maxBulkInputs } from "@accountlink/core/links";
import { statusOf } from "@accountlink/http-api";
import { Result } from "effect";

export const bulkAnswer = <Data, Input>(
  items: ReadonlyArray<BulkItem<Data>>,
  inputOf: (input: string) => Input,
  resolved: boolean,
  maxInputs: number = maxBulkInputs,
) => {
  let foundCount = 0;
  let notFoundCount = 0;
  const results = items.map(({ input, result }) => {
    if (Result.isSuccess(result)) {
      foundCount++;
      return { input: inputOf(input), found: true as const, data: result.success, error: null };
    }
    const { code, message, details } = result.failure;
    if (code === "LINK_NOT_FOUND") notFoundCount++;
    const error = { code, message, details, status: statusOf(result.failure) } as const;
    return { input: inputOf(input), found: false as const, data: null, error };
  });
  const count = items.length;
  return {
    data: {
      results,
      count,
      foundCount,
      notFoundCount,
      errorCount: count - foundCount - notFoundCount,
      resolved,
    },
    bulk: { uniqueInputs: new Set(items.map(({ input }) => input)).size, maxInputs },
  };
};
