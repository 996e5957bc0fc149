/** Custom properties in `style`, which React's types do not know. */

import "react";

declare module "react" {
  // A merged declaration has to be an interface.
  // eslint-disable-next-line @typescript-eslint/consistent-indexed-object-style
  interface CSSProperties {
    [customProperty: `--${string}`]: string | number | undefined;
  }
}
