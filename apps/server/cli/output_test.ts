import { expect, it } from "vitest";
import { printable } from "../message_text.ts";
import { formatTable } from "./output.ts";

it("a table has aligned columns, and its cells cannot move the cursor", () => {
  expect(
    formatTable(
      ["KEY", "NAME", "END"],
      [
        ["a", "x\n\u001B[2Jy", ""],
        ["longer", "", "never"],
      ],
    ),
  ).toBe(
    [
      "KEY     NAME               END",
      "a       x\\u000a\\u001b[2Jy",
      "longer                     never",
    ].join("\n"),
  );
});

it("text is printed with escaped control and direction characters, but with unchanged line ends", () => {
  const text = "\u0000\t\r\u007F\u009B|\u061C\u200E\u200F\u202A\u202E\u2066\u2069|\u2028|\nè שלום 🙂";
  const escapes = "u0000 u0009 u000d u007f u009b|u061c u200e u200f u202a u202e u2066 u2069|u2028|";
  expect(printable(text)).toBe(`${escapes.replaceAll(/ ?u/g, "\\u")}\nè שלום 🙂`);
});
