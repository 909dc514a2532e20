/**
 * Who sits at the command line.
 */
import { userInfo } from "node:os";
import type { WriteOrigin } from "@accountlink/core";

/** The origin of what the command line changes: the user of the operating system. */
export const operatorOrigin = (): WriteOrigin => ({
  actor: { type: "operator", id: userName() },
  requestId: null,
});

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // In a container the user need not have a name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
