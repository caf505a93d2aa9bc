import type { ComponentChildren } from 'preact';

interface KeyButtonProps {
  /** The key that does the same. */
  k: string;
  /** State of a switch. */
  isOn?: boolean;
  isOff?: boolean;
  onPress(): void;
  children: ComponentChildren;
}

/** A button that names its key. */
export function KeyButton({ k, isOn, isOff = false, onPress, children }: KeyButtonProps) {
  return (
    <button type="button" aria-pressed={isOn} disabled={isOff} onClick={onPress}>
      {children} <kbd>{k}</kbd>
    </button>
  );
}
