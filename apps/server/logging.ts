/**
 * Structured logs: one JSON object per line on standard error, without keys and addresses.
 */
import { redact } from "@accountlink/core";
import { Layer, Logger, type LogLevel, References } from "effect";
import type { Config } from "./config.ts";

const redactingLogger = Logger.withConsoleError(Logger.map(Logger.formatJson, redact));

const levels: Record<Config["ACCOUNTLINK_LOG_LEVEL"], LogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
};

/** The logger, from this level on. */
export const loggingLayer = (level: Config["ACCOUNTLINK_LOG_LEVEL"]): Layer.Layer<never> =>
  Layer.merge(Logger.layer([redactingLogger]), Layer.succeed(References.MinimumLogLevel, levels[level]));
