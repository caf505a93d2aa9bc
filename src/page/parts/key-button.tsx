import type { ComponentChildren } from 'preact';

interface KeyButtonProps {
  k: string;
  isOn?: boolean;
  isOff?: boolean;
  onPress(): void;
  children: ComponentChildren;
}

export function KeyButton({ k, isOn, isOff = false, onPress, children }: KeyButtonProps) {
  return (
    <button type="button" aria-pressed={isOn} disabled={isOff} onClick={onPress}>
      {children} <kbd>{k}</kbd>
    </button>
  );
}
