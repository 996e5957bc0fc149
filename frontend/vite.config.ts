/** How is the dashboard built, and where does `npm run dev` find the api? */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const service = process.env.CONCERTINA_URL ?? "http://127.0.0.1:8000";

const FEWEST_BYTES = 1024; // below that, a request costs more than what it carries
const QUALITY = 9; // of brotli: the last steps take ten times as long, for 3 %

/** Lay compressed files beside those of the build, which the service sends to whoever takes them. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle({ dir = "dist" }, bundle) {
      for (const name of Object.keys(bundle)) {
        const path = join(dir, name);
        const content = readFileSync(path);
        if (content.length < FEWEST_BYTES || !/\.(js|css|svg)$/.test(name)) continue;
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      }
    },
  };
}

export default defineConfig({
  base: "/",
  plugins: [react(), compressed()],
  build: {
    // ECharts alone is larger than Vite's default; it is a chunk of its own, loaded after the page.
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: { "/api": service, "/admin": service, "/sign-in": service, "/static": service },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts"],
    // They keep nothing between them, and a process for each would take five times as long.
    isolate: false,
    pool: "threads",
    unstubGlobals: true,
    restoreMocks: true,
  },
});
