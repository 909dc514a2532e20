/**
 * Structured logs: one JSON object per line on standard error, without keys and addresses.
 */
import { redact } from "@accountlink/core";
import { Formatter, Layer, Logger, type LogLevel, References } from "effect";
import type { Config } from "./config.ts";
import { foreignWarnings } from "./foreign_warnings.ts";
import { printable } from "./internal/output.ts";
import { withoutRepeats } from "./repeated_lines.ts";

const redactingLogger = withoutRepeats((line) => printable(redact(Formatter.formatJson(line))));

const levels: Record<Config["ACCOUNTLINK_LOG_LEVEL"], LogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
};

/** The logger, from this level on, also for what Node and libraries warn of. */
export const loggingLayer = (level: Config["ACCOUNTLINK_LOG_LEVEL"]): Layer.Layer<never> =>
  Layer.provideMerge(
    foreignWarnings,
    Layer.merge(Logger.layer([redactingLogger]), Layer.succeed(References.MinimumLogLevel, levels[level])),
  );
