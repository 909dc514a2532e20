import { expect, it } from "vitest";
import { makeWorkplace } from "../commands/test_program.ts";

it("the metrics of a server on embedded storage have the free space of its disk", async () => {
  const { serve } = await makeWorkplace();
  const url = await serve();
  await expect
    .poll(async () => (await fetch(`${url}/metrics`)).text())
    .toMatch(/^accountlink_disk_free_bytes(\{\})? [1-9]\d*$/m);
});
