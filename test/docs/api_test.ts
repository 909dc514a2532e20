/** Checks the paths in all documents, and the chat IDs in docs/api.md. */
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ChatId } from "@accountlink/core";
import { routes } from "@accountlink/http-api";
import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import { readDocument } from "./document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const versionIn = (path: string): string => /^(?:\/api)?\/v\d+/.exec(path)?.[0] ?? "";

describe("the paths of both generations", () => {
  const versions = new Set(routes.map(({ path }) => versionIn(path)));

  it.each(["CHANGELOG.md", "README.md", ...globSync("docs/*.md", { cwd: root })])(
    "all paths in %s have a known version prefix",
    (file) => {
      const named = [...readDocument(file).matchAll(/`(?:[A-Z]+ )?(\/[^`\s]*)`/g)].map(
        ([, path = ""]) => path,
      );
      const found = new Set(named.map(versionIn));
      found.delete("");
      expect([...found].filter((version) => !versions.has(version))).toEqual([]);
    },
  );
});

describe("docs/api.md", () => {
  it("docs/api.md shows two chat IDs that differ as text but are equal as numbers", () => {
    const [, ...ids] = /`(\d+)` and `(\d+)` are two IDs/.exec(readDocument("docs/api.md")) ?? [];
    expect(ids.map(BigInt)[0]).toBe(ids.map(BigInt)[1]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toSatisfy(Schema.is(ChatId));
  });
});
