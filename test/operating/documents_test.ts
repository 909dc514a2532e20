/** What docs/operating.md and docs/scaling.md repeat of the sources, held against them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RedisUrl } from "@accountlink/cache-redis";
import { describe, expect, it } from "vitest";
import { codeOf, readDocument, rowsUnder } from "../docs/document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const operating = readDocument("docs/operating.md");

describe("docs/operating.md", () => {
  it("has the time that a statement may take, as PgBouncer has to be told it", () => {
    const source = readFileSync(join(root, "packages/storage-sql/postgres/postgres.ts"), "utf8");
    const [, millis] = /statementTimeout = "(\d+) millis"/.exec(source) ?? [];
    const prose = operating.replaceAll(/\s+/g, " ");
    expect(prose).toContain(
      `**Time**: 1 second for a connection, ${Number(millis) / 1_000} for a statement or transaction`,
    );
    expect(prose).toContain(`SET statement_timeout = '${millis}ms'`);
  });

  it("has every form of a Redis URL", () => {
    const documented = rowsUnder(operating, ["form of `ACCOUNTLINK_REDIS_URL`", "leads to"]).map(([form]) =>
      codeOf(form),
    );
    expect(documented).toEqual([...RedisUrl.forms]);
  });
});

describe.each(["docs/operating.md", "docs/scaling.md"])("%s", (path) => {
  it("links to what there is", () => {
    const targets = [...readDocument(path).matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map(
      ([, target = ""]) => target,
    );
    expect(targets.length).toBeGreaterThan(0);
    const missing = targets.filter((target) => !existsSync(join(root, dirname(path), target)));
    expect(missing).toEqual([]);
  });
});
