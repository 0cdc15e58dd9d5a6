import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * A screen whose code is loaded when it is first shown. After an upgrade of the server an open tab does not find its files any more, and asks for a
 * reload: parts of two versions are never mixed.
 */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [, render] = useState(0);
    const [isMissing, setMissing] = useState(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (component) => {
          loaded = component;
          render((count) => count + 1);
        },
        () => setMissing(true),
      );
    }, []);
    if (loaded !== undefined) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    if (!isMissing) return <div class="skeleton" aria-busy="true" />;
    return (
      <div class="state" role="alert">
        <p>This part of the page cannot be loaded: the server has another version by now, or cannot be reached.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    );
  };
}
