/** Network intelligence from files: which addresses are a VPN's, and which ones strangers share. */
export * as NetworkFiles from "./network_files.ts";
