/** Structured logs: one JSON object per line on standard error, without keys and addresses. */
import { redact } from "@accountlink/core/addresses";
import { Formatter, Layer, Logger, type LogLevel, References } from "effect";
import type { Config } from "../config/config.ts";
import { printable } from "../message_text.ts";
import { captureWarnings } from "./capture_warnings.ts";
import { deduplicatedLogger } from "./deduplicated_logger.ts";

const redactingLogger = deduplicatedLogger((line) => printable(redact(Formatter.formatJson(line))));

const levels: Record<Config["ACCOUNTLINK_LOG_LEVEL"], LogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
};

/** A logger for this level and above, which includes warnings of Node and libraries. */
export const loggingLayer = (level: Config["ACCOUNTLINK_LOG_LEVEL"]): Layer.Layer<never> =>
  Layer.provideMerge(
    captureWarnings,
    Layer.merge(Logger.layer([redactingLogger]), Layer.succeed(References.MinimumLogLevel, levels[level])),
  );
