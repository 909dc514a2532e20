/**
 * A short round of what `usage_proof.ts` does for long.
 */
import { expect, test } from "vitest";
import { loggedUsage, requestsIn, sendMany, storedUsage, sumOf, whyNoNodes, withNodes } from "./usage.ts";

const missing = await whyNoNodes();

test.skipIf(missing !== null)(`usage equals the access log over 600 requests ${missing ?? ""}`, () =>
  withNodes(async ({ url, shared, own, nodes, cutFor }) => {
    const callers = [shared, own[0]];
    const cut = cutFor(300);
    await sendMany(nodes, callers, 600);
    await cut;
    await Promise.all(nodes.map((node) => node.stop()));
    const logged = sumOf(...nodes.map((node) => loggedUsage(node)));
    expect(requestsIn(logged)).toBeGreaterThan(300);
    expect(await storedUsage(url, callers)).toEqual(logged);
  }),
);
