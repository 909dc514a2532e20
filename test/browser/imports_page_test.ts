import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../support/folder.ts";
import { createKey, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const { visit, url } = useDashboard();

const folder = useFolder();

it("an owner imports links from a file", async () => {
  const first = 200_001;
  const page = await visit("/dashboard/imports", /Ada\b/, desktop);
  await expectUsable(page, "Import links", "import-empty");
  await createKey(page, "Bot");
  await page.goto(`${url()}/dashboard/imports`);
  await page.getByText(".csv, .tsv, .txt, .json, .ndjson, .jsonl with CSV or JSON").waitFor();
  await expectUsable(page, "Import links", "import-upload");
  const choose = async (file: string, content: string) => {
    await writeFile(join(folder, file), content);
    await page.getByLabel("File", { exact: true }).setInputFiles(join(folder, file));
    await press(page, "Preview the import");
    await page.waitForLoadState();
  };
  await choose("archive.csv", "PK\u0003\u0004 and more of an archive");
  await expectUsable(page, "Import links", "import-refused");
  expect(await page.getByRole("alert").textContent()).toContain("The file is a ZIP archive");

  const rows = Array.from({ length: 40 }, (_, index) => `${first + index},${1 + index},2026-01-01`);
  await choose("links.csv", ["Discord ID,Roblox ID,Verified At", ...rows, "1.2E+17,1,", "<b>,1,"].join("\n"));
  await expectUsable(page, "Import links", "import-preview");
  await press(page, "Import 40 links");
  await expect.poll(() => page.title()).toBe("Links imported – accountlink");
  await expectUsable(page, "Links imported", "import-done");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    press(page, "Download the rows that are left out"),
  ]);
  expect(download.suggestedFilename()).toBe("left_out.csv");

  await press(page, "Import another file");
  await page.getByLabel("Take the link from the file").check();
  await choose("changed.csv", `Discord ID,Roblox ID\n${first},2\n${first + 1},2\n100001,1`);
  await expectUsable(page, "Import links", "import-changes");
  const changes = page.getByRole("region", { name: "1 user who gets another account" });
  expect(await changes.textContent()).toMatch(`${first}Player 1 (1)Player 2 (2)`);
  await press(page, "Import 3 links");
  await expect.poll(() => page.title()).toBe("Links imported – accountlink");
  await changes.getByRole("link", { name: String(first) }).click();
  await page
    .getByText(/^Ada linked user \d+ to Player 2 \(2\), in place of Player 1 \(1\), by an import$/)
    .waitFor();
  await page.goto(`${url()}/dashboard/links?q=100001`);
  await page.getByRole("link", { name: "Ada", exact: true }).click();
  await page.getByText(/by an import, or before the audit log begins/).waitFor();

  await page.goto(`${url()}/dashboard/imports`);
  await page.getByRole("heading", { name: "Imports of the last day" }).waitFor();
  await expectUsable(page, "Import links", "import-undoable");
  await press(page, /^Undo it.*changed\.csv$/);
  await page.getByText("3 links go back to how they were before").waitFor();
  await expectUsable(page, "Undo the import?", "import-undo");
  await press(page, "Undo the import");
  await page
    .getByText("1 link was removed from the shared list, and 2 links are as before the import.")
    .waitFor();
  await expectUsable(page, "The import is undone", "import-undone");
  await page.goto(`${url()}/dashboard/links?q=100001`);
  expect(await page.getByRole("link", { name: "Ada", exact: true }).count()).toBe(0);
  await page.goto(`${url()}/dashboard/audit`);
  await page
    .getByText("Ada undid the import of “changed.csv” into the shared list: 1 removed, 2 as before")
    .waitFor();
  await page.getByText("Ada imported links of “links.csv” into the shared list: 40 new").waitFor();
});
