# bash completion for onnxport, printed by `onnxport completion bash`.

_onnxport()
{
  local word=${COMP_WORDS[COMP_CWORD]} before='' verb=${COMP_WORDS[1]} words='' files='' skipped=''
  [ "$COMP_CWORD" -gt 1 ] && before=${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes --option=value for three words.
  [ "$word" = = ] && word=''
  [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
  [ "$COMP_CWORD" -eq 1 ] && verb=''
  case $verb in
  '') words=" completion convert engines errors export formats inspect layers profiles run verify --help --version" files=1 ;;
  help) words=" completion convert engines errors export formats inspect layers profiles run verify" ;;
  completion)
    case $before in
    *)
      words="--help bash zsh fish"
      ;;
    esac
    ;;
  convert)
    case $before in
    --output | -o) files=1 ;;
    --format) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --from) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --description) files=1 ;;
    --variable) words="" ;;
    --input-shape) words="" ;;
    *)
      words="--output --format --quiet --from --description --variable --input-shape --json --help"
      files=1
      ;;
    esac
    ;;
  engines)
    case $before in
    *)
      words="--json --markdown --help"
      ;;
    esac
    ;;
  errors)
    case $before in
    *)
      words="--json --markdown --help"
      ;;
    esac
    ;;
  export)
    case $before in
    --output | -o) files=1 ;;
    --external-data) words=" auto always never" ;;
    --sync) words=" auto always never" ;;
    --from) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --description) files=1 ;;
    --variable) words="" ;;
    --input-shape) words="" ;;
    --profile) words=" netcl onnx" ;;
    --opset) words="" ;;
    --ir) words="" ;;
    --batch) words="" ;;
    --input-name) words="" ;;
    --output-name) words="" ;;
    --dtype) words=" source float32 float64" ;;
    --batchnorm) words=" literal expanded" ;;
    --doc) words="" ;;
    --engine) words=" ort reference" ;;
    --against) words=" ort reference" ;;
    --seed) words="" ;;
    --rtol) words="" ;;
    --atol) words="" ;;
    --expected) files=1 ;;
    --input | -i) files=1 ;;
    --scale) words="" ;;
    --mean) words="" ;;
    --std) words="" ;;
    --channels) words=" rgb bgr" ;;
    --threads) words="" ;;
    --onnxruntime) files=1 ;;
    *)
      words="--output --external-data --sync --verify --quiet --from --description --variable --input-shape --profile --opset --ir --batch --input-name --output-name --dtype --batchnorm --doc --engine --against --seed --rtol --atol --layers --power --expected --input --scale --mean --std --channels --no-resize --threads --no-optimization --onnxruntime --json --help"
      files=1
      ;;
    esac
    ;;
  formats)
    case $before in
    *)
      words="--json --markdown --help"
      ;;
    esac
    ;;
  inspect)
    case $before in
    --graph) files=1 ;;
    --from) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --description) files=1 ;;
    --variable) words="" ;;
    --input-shape) words="" ;;
    *)
      words="--json --graph --from --description --variable --input-shape --help"
      files=1
      ;;
    esac
    ;;
  layers)
    case $before in
    *)
      words="--json --markdown --help"
      ;;
    esac
    ;;
  profiles)
    case $before in
    *)
      words="--json --markdown --help"
      ;;
    esac
    ;;
  run)
    case $before in
    --engine) words=" ort reference" ;;
    --output | -o) files=1 ;;
    --input | -i) files=1 ;;
    --scale) words="" ;;
    --mean) words="" ;;
    --std) words="" ;;
    --channels) words=" rgb bgr" ;;
    --from) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --description) files=1 ;;
    --variable) words="" ;;
    --input-shape) words="" ;;
    --threads) words="" ;;
    --onnxruntime) files=1 ;;
    *)
      words="--engine --output --input --scale --mean --std --channels --no-resize --from --description --variable --input-shape --threads --no-optimization --onnxruntime --json --help"
      files=1
      ;;
    esac
    ;;
  verify)
    case $before in
    --engine) words=" ort reference" ;;
    --against) words=" ort reference" ;;
    --seed) words="" ;;
    --rtol) words="" ;;
    --atol) words="" ;;
    --expected) files=1 ;;
    --input | -i) files=1 ;;
    --scale) words="" ;;
    --mean) words="" ;;
    --std) words="" ;;
    --channels) words=" rgb bgr" ;;
    --from) words=" netcl netcl_checkpoint netcl_layers netcl_pair netcl_pt" ;;
    --description) files=1 ;;
    --variable) words="" ;;
    --input-shape) words="" ;;
    --profile) words=" netcl onnx" ;;
    --opset) words="" ;;
    --ir) words="" ;;
    --batch) words="" ;;
    --input-name) words="" ;;
    --output-name) words="" ;;
    --dtype) words=" source float32 float64" ;;
    --batchnorm) words=" literal expanded" ;;
    --doc) words="" ;;
    --threads) words="" ;;
    --onnxruntime) files=1 ;;
    *)
      words="--engine --against --seed --rtol --atol --layers --power --expected --input --scale --mean --std --channels --no-resize --from --description --variable --input-shape --profile --opset --ir --batch --input-name --output-name --dtype --batchnorm --doc --threads --no-optimization --onnxruntime --json --help"
      files=1
      ;;
    esac
    ;;
  *) files=1 ;;
  esac
  case $word in
  -*) files='' ;;
  *) [ -n "$files" ] && skipped='-*' ;; # options only where somebody begins one
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -X "$skipped" -- "$word")
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _onnxport onnxport
