import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { root } from "../../tools/publishable.ts";
import { useFolder } from "../support/folder.ts";

const folder = useFolder();

it("the recipe for Next counts wrong keys for the address that the proxy appended", async () => {
  await mkdir(join(folder, "node_modules"));
  await symlink(join(root, "packages/accountlink"), join(folder, "node_modules/accountlink"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await copyFile(join(root, "examples/recipes/next/app/links/[...path]/route.ts"), join(folder, "route.ts"));
  const { GET } = (await import(pathToFileURL(join(folder, "route.ts")).href)) as {
    readonly GET: (request: Request) => Promise<Response>;
  };
  vi.spyOn(console, "log").mockReturnValue();
  const statuses: Array<number> = [];
  for (let sent = 0; sent <= 30; sent++) {
    const authorization = `Bearer alk_Aa0Bb1Cc2Dd3_${String(sent).padStart(43, "0")}`;
    const headers = { authorization, "x-forwarded-for": `198.51.100.${sent}, 203.0.113.9` };
    const request = new Request("http://localhost:3000/links/v2/chat?chatId=100001", { headers });
    statuses.push((await GET(request)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
});
