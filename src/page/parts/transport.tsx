import { KeyButton } from './key-button.tsx';
import { timeOf } from './words.ts';

interface TransportProps {
  isPlaying: boolean;
  position: number;
  seconds: number;
  onToggle(): void;
  onSeek(seconds: number): void;
}

export function Transport({ isPlaying, position, seconds, onToggle, onSeek }: TransportProps) {
  const text = `${timeOf(position)} / ${timeOf(seconds)}`;
  return (
    <>
      <KeyButton k="Space" onPress={onToggle}>
        {isPlaying ? 'Pause' : 'Play'}
      </KeyButton>
      <span class="time">
        <input
          type="range"
          aria-label="Time"
          min={0}
          max={seconds}
          step={0.04}
          value={position}
          aria-valuetext={text}
          onInput={({ currentTarget: { valueAsNumber } }) => onSeek(valueAsNumber)}
        />
      </span>
      <span class="clock">{text}</span>
    </>
  );
}
