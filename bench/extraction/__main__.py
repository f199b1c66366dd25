from bench.extraction.run import main

main()
