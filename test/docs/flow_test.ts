/** The public flow in docs/sessions.md, against the sources of its pages. */
import { refusals } from "@accountlink/pages/flow/refusals";
import { describe, expect, it } from "vitest";
import { readDocument, rowsUnder } from "./document.ts";

const rows = rowsUnder(readDocument("docs/sessions.md"), ["page", "status", "when"]);

describe("the pages that do not go on", () => {
  it("are all there, with their status", () => {
    expect(rows.map(([page, status]) => [page, Number(status)])).toEqual(
      Object.values(refusals).map(({ title, status }) => [title, status]),
    );
  });

  it("are told apart by their titles", () => {
    expect(new Set(rows.map(([page]) => page)).size).toBe(rows.length);
  });
});
