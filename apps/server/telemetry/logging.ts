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

/** Logs messages of this level and above, including the warnings of Node and of libraries. */
export const loggingLayer = (level: Config["ACCOUNTLINK_LOG_LEVEL"]): Layer.Layer<never> =>
  Layer.provideMerge(
    captureWarnings,
    Layer.merge(Logger.layer([redactingLogger]), Layer.succeed(References.MinimumLogLevel, levels[level])),
  );
