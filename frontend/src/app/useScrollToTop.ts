/** Where does a page that was just opened begin? At its top; one that is returned to, where it was. */

import { useEffect } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router";

export function useScrollToTop(): void {
  const { pathname } = useLocation();
  const isReturnedTo = useNavigationType() === NavigationType.Pop;
  useEffect(() => {
    if (!isReturnedTo) window.scrollTo(0, 0);
  }, [pathname, isReturnedTo]);
}
