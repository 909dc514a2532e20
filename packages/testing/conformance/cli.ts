#!/usr/bin/env node
/** `npx @accountlink/testing/conformance ./my_store.js` */
import { runCommand } from "./command.ts";

// A store may keep its connection open; nothing is left to do.
process.exit(await runCommand(process.argv.slice(2), process.stdout, process.stderr));
