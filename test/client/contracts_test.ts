/**
 * Tests that the clients contain the types and codes of the service's contract. Run the test with `-u` to generate them
 * again.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withLuauContract } from "./contracts/luau.ts";
import { pythonContract, pythonMethods, synchronous } from "./contracts/python.ts";
import { typescriptContract } from "./contracts/typescript.ts";

const python = "../../clients/python/accountlink";
const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

it("the TypeScript client contains every type and route", async () => {
  await expect(typescriptContract()).toMatchFileSnapshot("../../packages/client/contract.ts");
});

it("the Python client contains every type and route", async () => {
  await expect(pythonContract()).toMatchFileSnapshot(`${python}/contract.py`);
  await expect(await pythonMethods()).toMatchFileSnapshot(`${python}/_async_methods.py`);
});

it("Python's synchronous client is generated from the asynchronous client", async () => {
  const methods = synchronous("_async_methods.py", await pythonMethods());
  await expect(methods).toMatchFileSnapshot(`${python}/_methods.py`);
  const client = synchronous("_async_client.py", textOf(`${python}/_async_client.py`));
  await expect(client).toMatchFileSnapshot(`${python}/_client.py`);
});

it("the Luau client contains the codes, types and routes that it uses", async () => {
  const file = "../../clients/luau/src/init.luau";
  await expect(withLuauContract(textOf(file))).toMatchFileSnapshot(file);
});
