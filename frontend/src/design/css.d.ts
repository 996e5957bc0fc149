/** Custom properties in `style`, which React's types do not know. */

import "react";

declare module "react" {
  interface CSSProperties {
    // oxlint-disable-next-line typescript/consistent-indexed-object-style -- it is merged
    [customProperty: `--${string}`]: string | number | undefined;
  }
}
