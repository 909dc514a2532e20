import { expect, it, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { formatProgress, progressBar } from "./progress.ts";

const makeScreen = (isTTY: boolean) => {
  const written: Array<string> = [];
  return { written, screen: { isTTY, write: (text: string) => written.push(text) } };
};

const importing = (done: number) => ({ doing: "importing", done, total: 200_000, unit: "lines" });

test("a progress bar is drawn at most ten times a second, and erased at the end", () => {
  const { written, screen } = makeScreen(true);
  return Effect.gen(function* () {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const show = yield* progressBar(screen);
        yield* show(importing(0));
        yield* TestClock.adjust("99 millis");
        yield* show(importing(50_000));
        expect(written).toHaveLength(1);
        yield* TestClock.adjust("1 millis");
        yield* show(importing(100_000));
        expect(written).toHaveLength(2);
        yield* show(importing(200_000));
      }),
    );
    expect(written.map((text) => text.replace("\r\u001B[K", ""))).toEqual([
      "importing  ░░░░░░░░░░░░░░░░░░░░░░░░    0 %  0 lines",
      "importing  ████████████░░░░░░░░░░░░   50 %  100,000 lines  1,000,000/s",
      "importing  ████████████████████████  100 %  200,000 lines  2,000,000/s",
      "",
    ]);
  });
});

test("a progress bar is not drawn without a terminal", () => {
  const { written, screen } = makeScreen(false);
  return Effect.gen(function* () {
    yield* Effect.scoped(Effect.flatMap(progressBar(screen), (show) => show(importing(1))));
    expect(written).toEqual([]);
  });
});

it("formatProgress omits the total or the unit if it is null", () => {
  expect(formatProgress({ doing: "exporting", done: 1_500, total: null, unit: "links" }, 500)).toBe(
    "exporting  1,500 links  3,000/s",
  );
  expect(formatProgress({ doing: "checking", done: 1, total: 4, unit: null }, 500)).toBe(
    "checking  ██████░░░░░░░░░░░░░░░░░░   25 %",
  );
});
