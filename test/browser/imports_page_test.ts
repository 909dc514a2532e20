import { expect, it } from "vitest";
import { newKey, shows, useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

const { open } = useDashboard();

it("an owner imports links from a file, and undoes the import", async () => {
  const first = 200_001;
  const page = await open("/dashboard/imports", /Ada\b/);
  await expectUsable(page, "Import links", "import-empty");
  expect(page.words).toContain(
    "The bot is in Rook & Bishop, but Rook & Bishop is not set up yet. Set it up first",
  );
  await newKey(page, "Bot");
  await page.goto("/dashboard/imports");
  expect(page.words).toContain(".csv, .tsv, .txt, .json, .ndjson, .jsonl with CSV or JSON");
  await expectUsable(page, "Import links", "import-upload");
  const upload = (file: string, content: string, entries: Readonly<Record<string, boolean>> = {}) =>
    page.press("Preview the import", { File: new File([content], file), ...entries });
  /** Starts the import, and waits until it has ended. */
  const run = async (button: string) => {
    await page.press(button);
    await expect.poll(() => page.reload().then(() => page.title)).toBe("Links imported – accountlink");
  };
  await upload("archive.csv", "PK\u0003\u0004 and more of an archive");
  await expectUsable(page, "Import links", "import-refused");
  expect(page.words).toContain("This is an Excel file or a ZIP archive");

  const rows = Array.from({ length: 40 }, (_, index) => `${first + index},${1 + index},2026-01-01`);
  await upload("links.csv", ["Discord ID,Roblox ID,Verified At", ...rows, "1.2E+17,1,", "<b>,1,"].join("\n"));
  await expectUsable(page, "Import links", "import-preview");
  await run("Import 40 links");
  await expectUsable(page, "Links imported", "import-done");

  await page.press("Import another file");
  await upload("changed.csv", `Discord ID,Roblox ID\n${first},2\n${first + 1},2\n100001,1`, {
    "Take the link from the file": true,
  });
  await expectUsable(page, "Import links", "import-changes");
  expect(page.words).toContain("1 user who gets another account");
  expect(page.all("tr", /^200001/)).toEqual([`${first} Player 1 (1) Player 2 (2)`]);
  await run("Import 3 links");
  await page.press(String(first));
  const mayHave = "Imports that may have changed this link";
  expect(page.words.split(mayHave)[1]).toContain(
    "Ada imported links of “changed.csv” into the shared list: 1 new, 2 replaced",
  );
  await page.goto("/dashboard/links?q=100001");
  expect(await page.press("Ada")).toContain("by an import, or before the audit log begins");

  await page.goto("/dashboard/imports");
  expect(page.words).toMatch(/Imports of the last day .* until .*, or until three more imports/);
  await expectUsable(page, "Import links", "import-undoable");
  await page.press(/^Undo it.*changed\.csv$/);
  expect(page.words).toContain("1 link is removed. 2 links are as before the import again.");
  await expectUsable(page, "Undo the import?", "import-undo");
  await page.press("Undo the import");
  const undone = "1 link was removed from the shared list, and 2 links are as before the import.";
  await shows(page, undone);
  await expectUsable(page, "The import is undone", "import-undone");
  await page.goto("/dashboard/links?q=100001");
  expect(page.all("a", /^Ada$/)).toEqual([]);
  await page.goto("/dashboard/audit");
  expect(page.words).toContain(
    "Ada undid the import of “changed.csv” into the shared list: 1 removed, 2 as before",
  );
  expect(page.words).toContain("Ada imported links of “links.csv” into the shared list: 40 new");
});
