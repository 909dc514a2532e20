/** Whatever is sent, the server answers as documented and never with a failure of its own. */
import {
  compatRoutes,
  openApi,
  routes as ownRoutes,
  pathTemplate,
  type Route,
  refusalsOf,
  takesHead,
} from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { envelopeProblems } from "../contract/envelope.ts";
import type { Answer } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { linkedWorld, randomRequest, systemPaths } from "./random_request.ts";

const routes = [...ownRoutes, ...compatRoutes];
/** So few that on a busy machine too the platforms answer each in time. */
const atOnce = 10;

const requests = isProof ? 20_000 : 2_000;

const { fixture, keys } = linkedWorld();
const { send, output } = useServer(() => ({ fixture }));

test(`${requests} random requests are answered as documented`, async () => {
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

/** The path that the server sees, or null when it cannot be read. */
const pathOf = (target: string): string | null => {
  try {
    decodeURIComponent(target);
    return decodeURIComponent(target.split("?", 1)[0] ?? "");
  } catch {
    return null;
  }
};

const { paths } = openApi("http://127.0.0.1");

const statusesOfOperation = (route: Route): ReadonlyArray<number> => {
  const operation = paths[pathTemplate(route)]?.[route.method.toLowerCase() as "get"];
  return Object.keys(operation?.responses ?? {}).map(Number);
};

/** The statuses of a route's successes and redirects. */
const successesOf = (route: Route): ReadonlyArray<number> =>
  statusesOfOperation(route).filter((status) => status < 400);

/** Whether the server takes a path, as it is written, for one of the route. */
const isPathOf = ({ path }: Route, written: string): boolean => {
  const parts = path.split("/");
  const found = written.split("/").map(decodeURIComponent);
  return (
    !/[;#]/.test(written) &&
    parts.length === found.length &&
    parts.every((part, index) => (part.startsWith(":") ? found[index] !== "" : found[index] === part))
  );
};

/** Every status that a request may be answered with while all is well. */
const documentedStatuses = (line: string): ReadonlyArray<number> => {
  const space = line.indexOf(" ");
  const method = line.slice(0, space);
  const path = pathOf(line.slice(space + 1));
  if (path === null) return [400];
  const isRead = method === "GET" || method === "HEAD";
  const written = line.slice(space + 1).split("?", 1)[0] ?? "";
  const sharing = routes.filter((each) => isPathOf(each, written));
  const route = sharing.find((each) =>
    method === "HEAD" ? each.method === "GET" && takesHead(each) : each.method === method,
  );
  if (route !== undefined) {
    if (route.generation === "compat") return statusesOfOperation(route).filter((status) => status < 500);
    const refusals = refusalsOf(route).map(([status]) => status);
    return [...successesOf(route), ...refusals.filter((status) => status < 500)];
  }
  const isDocument = path === "/" || systemPaths.includes(path);
  if (sharing.length === 0 && !isDocument) return [404];
  // A document that the client has already is not sent again.
  if (isDocument && isRead) return path === "/openapi.json" ? [200, 304] : [200];
  return [method === "OPTIONS" ? 204 : 405];
};

const problemsOf = (line: string, answer: Answer): ReadonlyArray<string> => [
  ...(documentedStatuses(line).includes(answer.status) ? [] : [`${answer.status} is not documented`]),
  ...(answer.headers["x-request-id"] === undefined ? ["X-Request-Id is missing"] : []),
  ...envelopeProblems(line, answer),
];
