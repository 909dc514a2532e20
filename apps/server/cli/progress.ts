import { Clock, Effect, type Scope } from "effect";
import { formatCount } from "./output.ts";

export interface Progress {
  /** What the command is doing, such as `importing`. */
  readonly doing: string;
  readonly done: number;
  /** How much there is to do; null if unknown. */
  readonly total: number | null;
  /** The unit of `done`, such as `links`; null to print the percentage only. */
  readonly unit: string | null;
}

export interface Screen {
  readonly isTTY?: boolean;
  readonly write: (text: string) => unknown;
}

/** Updates the progress bar, which is drawn at most ten times a second. */
export type ShowProgress = (progress: Progress) => Effect.Effect<void>;

const barWidth = 24;
const redrawAfter = 100;
const eraseLine = "\r\x1b[K";

/** A progress bar that is erased when the scope closes. */
export const progressBar = (
  screen: Screen = process.stderr,
): Effect.Effect<ShowProgress, never, Scope.Scope> => {
  if (screen.isTTY !== true) return Effect.succeed(() => Effect.void);
  let started: { readonly doing: string; readonly at: number } | undefined;
  let drawnAt = -Infinity;
  const show: ShowProgress = (progress) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (started?.doing !== progress.doing) started = { doing: progress.doing, at: now };
      if (now - drawnAt < redrawAfter && progress.done !== progress.total) return;
      drawnAt = now;
      screen.write(`${eraseLine}${formatProgress(progress, now - started.at)}`);
    });
  return Effect.acquireRelease(Effect.succeed(show), () => Effect.sync(() => screen.write(eraseLine)));
};

/** Formats a line of progress. `elapsed` is in milliseconds. */
export const formatProgress = ({ doing, done, total, unit }: Progress, elapsed: number): string => {
  const parts = [doing];
  if (total !== null) {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.floor(share * barWidth);
    parts.push(
      "█".repeat(filled) + "░".repeat(barWidth - filled),
      `${Math.floor(share * 100)} %`.padStart(5),
    );
  }
  if (unit !== null) parts.push(`${formatCount(done)} ${unit}`);
  if (unit !== null && elapsed > 0) parts.push(`${formatCount(Math.round((done / elapsed) * 1000))}/s`);
  return parts.join("  ");
};
