/**
 * Lookups are answered by one pipeline on two ways: directly, or through Effect's HTTP server. Both
 * give the same answer to any request.
 */
import { isProof } from "@accountlink/test-servers";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Answer } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { linkedWorld, randomLookup } from "./random_request.ts";

const requests = isProof ? 20_000 : 2_000;

const { fixture, keys } = linkedWorld();
const { send } = useServer(() => ({ fixture }));

/** Effect's server answers what may have a body. */
const theLongWay = { "content-length": "0" };

/** What is different from request to request. */
const changing =
  /req_\w{26}|\d{4}-\d\d-\d\dT[\d:.]+Z|"remaining":\d+|(?<=x-ratelimit-\S+","?)\d+|"date","[^"]+"/g;

const comparable = ({ status, headers, text }: Answer): string =>
  JSON.stringify([status, Object.entries(headers), text])
    .replaceAll("\\", "")
    .replaceAll(changing, "…");

test(`${requests} random lookups have the same answer on both ways`, async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(randomLookup(keys), async ({ line, options }) => {
      const direct = await send(line, options);
      const other = await send(line, { headers: { ...options.headers, ...theLongWay } });
      statuses.add(direct.status);
      expect(comparable(direct)).toBe(comparable(other));
    }),
    { numRuns: requests / 2 },
  );
  expect([200, 400, 401, 403, 404].filter((status) => !statuses.has(status))).toEqual([]);
});
