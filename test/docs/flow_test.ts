/** Compares the pages in docs/sessions.md with the sources. */
import { refusals } from "@accountlink/pages/flow/refusals";
import { describe, expect, it } from "vitest";
import { readDocument, rowsUnder } from "./document.ts";

const rows = rowsUnder(readDocument("docs/sessions.md"), ["page", "status", "when"]);

describe("the refusal pages in docs/sessions.md", () => {
  it("docs/sessions.md lists every refusal page with its status", () => {
    expect(rows.map(([page, status]) => [page, Number(status)])).toEqual(
      Object.values(refusals).map(({ title, status }) => [title, status]),
    );
  });

  it("refusal pages have unique titles", () => {
    expect(new Set(rows.map(([page]) => page)).size).toBe(rows.length);
  });
});
