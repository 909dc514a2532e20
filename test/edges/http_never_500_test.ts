/** Checks that every answer to a random request has the format of its API, and never a 5xx status. */
import { isProof } from "@accountlink/test-servers";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { envelopeProblems } from "../contract/envelope.ts";
import type { Answer } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { linkedWorld, randomRequest } from "./random_request.ts";

/** Few concurrent requests, so that the platforms answer in time on a busy machine. */
const atOnce = 10;

const requests = isProof ? 20_000 : 2_000;

const { fixture, keys } = linkedWorld();
const { send, output } = useServer(() => ({ fixture }));

test(`${requests} random requests get an answer in the envelope below 500`, async () => {
  const counts = new Map<number, number>();
  const batch = fc.array(randomRequest(keys), { minLength: atOnce, maxLength: atOnce });
  await fc.assert(
    fc.asyncProperty(batch, async (drawn) => {
      const answers = await Promise.all(drawn.map(({ line, options }) => send(line, options)));
      for (const [index, answer] of answers.entries()) {
        const { line } = drawn[index] ?? { line: "" };
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
        const problems = problemsOf(line, answer);
        if (problems.length > 0)
          throw new Error(`${line} was answered ${answer.status} ${answer.text}: ${problems.join("; ")}`);
      }
    }),
    { numRuns: requests / atOnce, endOnFailure: true },
  );
  const sent = [...counts.values()].reduce((total, count) => total + count, 0);
  const byStatus = [...counts]
    .toSorted(([one], [other]) => one - other)
    .map(([status, count]) => `${status} × ${count}`);
  console.log(`${sent} random requests, none failed: ${byStatus.join(", ")}`);
  expect(sent).toBe(requests);
  expect(counts.get(200)).toBeGreaterThan(requests / 50);
  expect(output()).not.toContain("Request failed");
});

const problemsOf = (line: string, answer: Answer): ReadonlyArray<string> => [
  ...(answer.status < 500 ? [] : [`${answer.status} is a failure of the server`]),
  ...(answer.headers["x-request-id"] === undefined ? ["X-Request-Id is missing"] : []),
  ...envelopeProblems(line, answer),
];
