/**
 * Tests that the clients contain the types and codes of the service's contract. Run the test with `-u` to generate them
 * again.
 */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { typescriptRoutes } from "../../tools/client_contract.ts";
import { withLuauContract } from "./contracts/luau.ts";
import { pythonContract, pythonMethods, synchronous } from "./contracts/python.ts";

const python = "../../clients/python/accountlink";
const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

it("the TypeScript client contains every route", async () => {
  await expect(typescriptRoutes()).toMatchFileSnapshot("../../packages/client/routes.ts");
});

it("the Python client contains every type and route", async () => {
  await expect(pythonContract()).toMatchFileSnapshot(`${python}/contract.py`);
  await expect(await pythonMethods()).toMatchFileSnapshot(`${python}/_async_methods.py`);
});

it("Python's synchronous client is generated from the asynchronous client", async () => {
  const methods = synchronous("_async_methods.py", await pythonMethods());
  await expect(methods).toMatchFileSnapshot(`${python}/_methods.py`);
  for (const name of ["caller", "client"]) {
    const written = synchronous(`_async_${name}.py`, textOf(`${python}/_async_${name}.py`));
    await expect(written).toMatchFileSnapshot(`${python}/_${name}.py`);
  }
});

it("the modules of the Python client import each other without circles", () => {
  const folder = fileURLToPath(new URL(python, import.meta.url));
  const imported = new Map(
    globSync("*.py", { cwd: folder }).map((file) => [
      file.replace(".py", ""),
      Array.from(textOf(`${python}/${file}`).matchAll(/from \.(\w+) import/g), ([, name = ""]) => name),
    ]),
  );
  const reach = (name: string, path: ReadonlyArray<string>): void => {
    expect(path).not.toContain(name);
    for (const next of imported.get(name) ?? []) reach(next, [...path, name]);
  };
  for (const name of imported.keys()) reach(name, []);
  expect(imported.get("_client")).toContain("_methods");
});

it("the Luau client contains the codes, types and routes that it uses", async () => {
  const file = "../../clients/luau/src/init.luau";
  await expect(withLuauContract(textOf(file))).toMatchFileSnapshot(file);
});
