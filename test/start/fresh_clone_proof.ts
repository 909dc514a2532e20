/**
 * Runs `npm start` in a fresh clone, as a first user does. Then runs the documented steps of operators on copies of the
 * installed clone, because three installations would take half a minute of processor time.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { clone, installedMegabytes, makeClone } from "./fresh_clone.ts";
import { interruptDemo, killDemo, startDemo, stopDemo } from "./npm_start.ts";

beforeAll(makeClone);

test("npm start in a fresh clone runs a demo, and ends all processes with exit code 0 on a signal", async () => {
  const first = await startDemo(clone);
  try {
    expect(first.keys).toHaveLength(2);
    expect(await stopDemo(first, () => first.npm.kill("SIGTERM"))).toBe(0);
  } finally {
    killDemo(first);
  }

  const second = await startDemo(clone);
  try {
    expect(second.keys).toEqual(first.keys);
    expect(await interruptDemo(second)).toBe(0);
  } finally {
    killDemo(second);
  }
  // Operators start without the demo's data, so remove it before the clone is copied.
  await rm(join(clone, "data"), { recursive: true });
  const megabytes = await installedMegabytes();
  console.log(
    `npm start: ${first.seconds.toFixed(1)} s and ${megabytes} MB in a fresh clone, ${second.seconds.toFixed(1)} s again`,
  );
  expect(megabytes).toBeLessThan(265);
});

await import("../operating/small_host.ts");
await import("../operating/first_hour.ts");
