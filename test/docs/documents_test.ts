/** Compares documents for operators with the sources. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { forms } from "@accountlink/redis/redis_url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServerHere } from "../support/server.ts";
import { codeOf, readDocument, rowsUnder } from "./document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const operating = readDocument("docs/operating.md");

const proseOf = (document: string): string => document.replaceAll(/\s+/g, " ");

describe("docs/operating.md", () => {
  it("docs/scaling.md has the statement timeout for PgBouncer", () => {
    const source = readFileSync(join(root, "packages/sql/postgres/postgres.ts"), "utf8");
    const [, millis] = /statementTimeout = "(\d+) millis"/.exec(source) ?? [];
    expect(proseOf(operating)).toContain(
      `**Time**: 1 second for a connection, ${Number(millis) / 1_000} for a statement or transaction`,
    );
    expect(proseOf(readDocument("docs/scaling.md"))).toContain(`SET statement_timeout = '${millis}ms'`);
  });

  it("docs/operating.md lists the values of the metric label `route` that are not API routes", async () => {
    const server = await startServerHere({ fixture: {} });
    onTestFinished(async () => void (await server.stop()));
    for (const path of ["/verify", "/dashboard", "/me", "/docs", "/guide", "/openapi.json", "/nowhere"]) {
      await server.send(`GET ${path}`);
    }
    await server.send("OPTIONS /v2/chat");
    const { text } = await server.send("GET /metrics");
    const counted = [...text.matchAll(/^accountlink_http_requests_total\{.*?route="(\w+)"/gm)].map(
      ([, route = ""]) => route,
    );
    const row = rowsUnder(operating, ["metric", "labels", "counts"]).find(
      ([name]) => codeOf(name) === "accountlink_http_requests_total",
    );
    const [, documented = ""] = /, or (.+); `code`/.exec(row?.[2] ?? "") ?? [];
    expect(documented.split(", ").map(codeOf).toSorted()).toEqual([...new Set(counted)].toSorted());
  });

  it("docs/operating.md lists every form of a Redis URL", () => {
    const documented = rowsUnder(operating, ["form of `ACCOUNTLINK_REDIS_URL`", "leads to"]).map(([form]) =>
      codeOf(form),
    );
    expect(documented).toEqual([...forms]);
  });
});

const documents = ["operating", "operators_day", "scaling"].map((name) => `docs/${name}.md`);

describe.each(documents)("%s", (path) => {
  it("a document links only to existing files", () => {
    const targets = [...readDocument(path).matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map(
      ([, target = ""]) => target,
    );
    expect(targets.length).toBeGreaterThan(0);
    const missing = targets.filter((target) => !existsSync(join(root, dirname(path), target)));
    expect(missing).toEqual([]);
  });
});
