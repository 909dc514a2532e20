import { expect, testLive } from "@accountlink/test-servers/effect";
import { ProcessLag } from "./process_lag.ts";

testLive("a process that works for 20 milliseconds at a time is late", function* () {
  let isOver = false;
  const work = () => {
    for (const end = performance.now() + 20; performance.now() < end; );
    if (!isOver) setImmediate(work);
  };
  setImmediate(work);
  const measure = yield* ProcessLag;
  for (let count = 0; count < 5; count++) yield* measure;
  isOver = true;
  expect(yield* measure).toBeGreaterThan(5);
});
