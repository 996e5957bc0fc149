/** How is the dashboard built, and where does `npm run dev` find the api? */

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const service = process.env.CONCERTINA_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/",
  plugins: [react()],
  build: {
    // ECharts alone is larger than Vite's default; it is a chunk of its own, loaded after the page.
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/api": service, "/admin": service, "/static": service } },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
